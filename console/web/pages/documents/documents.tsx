import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** DocumentsPage is a page that is not built yet. */
export default function DocumentsPage() {
  return <Page title="Documents"><Empty title="This page is not built yet." /></Page>;
}
