// Uploads a batch with the generated types and waits until it is stored.
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./sluice";

const env = process.env as Record<string, string>;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const base = "/tm/realtime/api/transactions/batch";

async function main() {
  const api = createClient<paths>({ baseUrl: env.API_URL });
  const token = await api.POST("/oauth2/token", {
    body: {
      grant_type: "client_credentials",
      client_id: env.CLIENT_ID,
      client_secret: env.CLIENT_SECRET,
      scope: env.SCOPE,
    },
    bodySerializer: (body) => new URLSearchParams(body as Record<string, string>),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (!token.data) throw new Error(JSON.stringify(token.error));
  const headers = { Authorization: `Bearer ${token.data.access_token}` };
  const upload = await api.POST(`${base}/generate-upload-url`, { headers, body: { reject_on_invalid: true } });
  if (!upload.data) throw new Error(JSON.stringify(upload.error));
  const { url, batch_id, required_headers } = upload.data;
  const put = await fetch(url!, { method: "PUT", headers: required_headers, body: readFileSync(env.BATCH) });
  if (!put.ok) throw new Error(`the upload answers ${put.status}`);

  for (let i = 0; i < 120; i++) {
    const { data, error } = await api.GET(`${base}/status/{batch_id}`, { headers, params: { path: { batch_id } } });
    if (!data) throw new Error(JSON.stringify(error));
    if ("status" in data) { // else 202: the batch has no status yet
      if (data.status === "PROCESSED") return console.log("PROCESSED", data.counts.ingested);
      if (data.status === "ERROR" || data.status === "VALIDATION_FAILED") throw new Error(data.error_message);
    }
    await pause(500);
  }
  throw new Error("the batch has not ended after a minute");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
