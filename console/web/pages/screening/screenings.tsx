import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** ScreeningsPage is a page that is not built yet. */
export default function ScreeningsPage() {
  return <Page title="Screening"><Empty title="This page is not built yet." /></Page>;
}
