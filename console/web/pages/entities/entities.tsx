import { Empty } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";

/** EntitiesPage is a page that is not built yet. */
export default function EntitiesPage() {
  return <Page title="Entities"><Empty title="This page is not built yet." /></Page>;
}
