import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** UploadPage is a page that is not built yet. */
export default function UploadPage() {
  return <Page title="Upload"><Empty title="This page is not built yet." /></Page>;
}
