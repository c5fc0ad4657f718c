import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** EntityPage is a page that is not built yet. */
export default function EntityPage() {
  return <Page title="Entity"><Empty title="This page is not built yet." /></Page>;
}
