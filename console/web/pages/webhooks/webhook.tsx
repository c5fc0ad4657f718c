import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** WebhookPage is a page that is not built yet. */
export default function WebhookPage() {
  return <Page title="Webhook"><Empty title="This page is not built yet." /></Page>;
}
