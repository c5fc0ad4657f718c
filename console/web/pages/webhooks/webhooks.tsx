import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** WebhooksPage is a page that is not built yet. */
export default function WebhooksPage() {
  return <Page title="Webhooks"><Empty title="This page is not built yet." /></Page>;
}
