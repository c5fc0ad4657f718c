// Uploads a batch with the generated client and waits until it is stored.
import { readFileSync } from "node:fs";
import { BatchesApi, Configuration, TokensApi } from "./index";

const env = process.env as Record<string, string>;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  const basePath = env.API_URL;
  const token = await new TokensApi(new Configuration({ basePath })).issueToken({
    grantType: "client_credentials" as any,
    clientId: env.CLIENT_ID,
    clientSecret: env.CLIENT_SECRET,
    scope: env.SCOPE,
  });
  // The client sends the token of an OAuth flow as it is given, and puts Bearer before another.
  const accessToken = (scheme?: string) => (scheme === "BearerToken" ? "" : "Bearer ") + token.accessToken;
  const batches = new BatchesApi(new Configuration({ basePath, accessToken }));
  const upload = await batches.generateUploadUrl({ uploadRequest: { rejectOnInvalid: true } });
  const file = readFileSync(env.BATCH);
  const put = await fetch(upload.url!, { method: "PUT", headers: upload.requiredHeaders, body: file });
  if (!put.ok) throw new Error(`the upload answers ${put.status}`);

  for (let i = 0; i < 120; i++) {
    const reply = await batches.readBatchStatusRaw({ batchId: upload.batchId });
    if (reply.raw.status === 200) { // 202: the batch has no status yet
      const status = await reply.value();
      if (status.status === "PROCESSED") return console.log("PROCESSED", status.counts.ingested);
      if (status.status === "ERROR" || status.status === "VALIDATION_FAILED") throw new Error(status.errorMessage);
    }
    await pause(500);
  }
  throw new Error("the batch has not ended after a minute");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
