import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** NamePage is a page that is not built yet. */
export default function NamePage() {
  return <Page title="Screen a name"><Empty title="This page is not built yet." /></Page>;
}
