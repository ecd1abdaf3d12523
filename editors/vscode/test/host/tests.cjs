// Runs inside the remote extension host, where the workbench calls `run`; host.test.mjs starts it and reads what it wrote.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

exports.run = async () => {
  const results = [];
  for (const file of fs.readdirSync(__dirname).filter((name) => name.endsWith(".host.cjs"))) {
    const tests = require(path.join(__dirname, file));
    for (const [name, body] of Object.entries(tests)) {
      try {
        await body();
        results.push({ name });
      } catch (error) {
        results.push({ name, error: String(error?.stack ?? error) });
      }
      fs.writeFileSync(process.env.SYNAPSE_HOST_RESULTS, JSON.stringify(results));
    }
  }
};
