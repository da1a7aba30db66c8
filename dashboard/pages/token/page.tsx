import { Head } from "../../parts/head.tsx";

export default function Token() {
  return <Head title="Token">This page is not built yet.</Head>;
}
