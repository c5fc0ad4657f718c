import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** OperatorPage is a page that is not built yet. */
export default function OperatorPage() {
  return <Page title="Operator"><Empty title="This page is not built yet." /></Page>;
}
