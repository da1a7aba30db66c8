import { Head } from "../../parts/head.tsx";

export default function Operator() {
  return <Head title="Operator">This page is not built yet.</Head>;
}
