import { Head } from "../../parts/head.tsx";

export default function Claims() {
  return <Head title="Claims">This page is not built yet.</Head>;
}
