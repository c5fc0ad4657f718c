import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** TransactionPage is a page that is not built yet. */
export default function TransactionPage() {
  return <Page title="Transaction"><Empty title="This page is not built yet." /></Page>;
}
