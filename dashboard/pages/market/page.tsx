import { Head } from "../../parts/head.tsx";

export default function Market() {
  return <Head title="Market">This page is not built yet.</Head>;
}
