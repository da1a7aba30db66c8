import { Head } from "../../parts/head.tsx";

export default function Bonds() {
  return <Head title="Bonds">This page is not built yet.</Head>;
}
