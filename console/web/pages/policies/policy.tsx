import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** PolicyPage is a page that is not built yet. */
export default function PolicyPage() {
  return <Page title="Policy"><Empty title="This page is not built yet." /></Page>;
}
