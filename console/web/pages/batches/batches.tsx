import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** BatchesPage is a page that is not built yet. */
export default function BatchesPage() {
  return <Page title="Batches"><Empty title="This page is not built yet." /></Page>;
}
