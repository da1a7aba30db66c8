import { Head } from "../../parts/head.tsx";

export default function Wallet() {
  return <Head title="Wallet">This page is not built yet.</Head>;
}
