import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** TransactionsPage is a page that is not built yet. */
export default function TransactionsPage() {
  return <Page title="Transactions"><Empty title="This page is not built yet." /></Page>;
}
