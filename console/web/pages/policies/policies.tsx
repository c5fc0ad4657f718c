import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** PoliciesPage is a page that is not built yet. */
export default function PoliciesPage() {
  return <Page title="Policies"><Empty title="This page is not built yet." /></Page>;
}
