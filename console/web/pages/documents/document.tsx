import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** DocumentPage is a page that is not built yet. */
export default function DocumentPage() {
  return <Page title="Document"><Empty title="This page is not built yet." /></Page>;
}
