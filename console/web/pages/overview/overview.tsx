import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** OverviewPage is a page that is not built yet. */
export default function OverviewPage() {
  return <Page title="Overview"><Empty title="This page is not built yet." /></Page>;
}
