import { Head } from "../../parts/head.tsx";

export default function Cover() {
  return <Head title="Cover">This page is not built yet.</Head>;
}
