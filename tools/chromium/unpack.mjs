// Unpacks what the package @sparticuz/chromium holds: the browser, and libraries and fonts that a machine may lack. Run it in the
// folder into which npm installed the package; it writes the folder unpacked, and the program chromium, which starts the browser.
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import { pipeline } from "node:stream/promises"
import zlib from "node:zlib"

fs.mkdirSync("unpacked", { recursive: true })
for (const name of ["chromium", "al2023.tar", "swiftshader.tar", "fonts.tar"]) {
  await pipeline(
    fs.createReadStream(`node_modules/@sparticuz/chromium/bin/${name}.br`),
    zlib.createBrotliDecompress(),
    fs.createWriteStream(`unpacked/${name}`, { mode: 0o755 }),
  )
  if (name.endsWith(".tar")) {
    execFileSync("tar", ["xf", name], { cwd: "unpacked" })
    fs.rmSync(`unpacked/${name}`)
  }
}
fs.rmSync("node_modules/@sparticuz/chromium/bin", { recursive: true })
fs.writeFileSync(
  "chromium",
  `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/unpacked
LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/chromium" "$@"
`,
  { mode: 0o755 },
)
