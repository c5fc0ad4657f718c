import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** BatchPage is a page that is not built yet. */
export default function BatchPage() {
  return <Page title="Batch"><Empty title="This page is not built yet." /></Page>;
}
