import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** WorkbenchPage is a page that is not built yet. */
export default function WorkbenchPage() {
  return <Page title="Workbench"><Empty title="This page is not built yet." /></Page>;
}
