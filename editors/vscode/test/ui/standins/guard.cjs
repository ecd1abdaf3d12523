// Loaded into every Node process of the workbench's server, so into the extension host and the extension too: whatever would leave this
// machine is refused and written down, with a line for each process that is guarded.
"use strict";
const fs = require("node:fs");
const net = require("node:net");

const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const say = (what) => fs.appendFileSync(process.env.SYNAPSE_GUARD_LOG, `${what}\n`);

say(`guarding ${process.pid} ${process.argv.slice(1).join(" ")}`);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0])
    ? args[0][0]
    : typeof args[0] === "object"
      ? args[0]
      : { port: args[0], host: args[1] };
  const host = options.path ? "localhost" : (options.host ?? "localhost");
  if (!LOCAL.test(host)) {
    say(`refused ${host}:${options.port}`);
    process.nextTick(() => this.destroy(new Error(`no connection leaves this machine: ${host}`)));
    return this;
  }
  return connect.apply(this, args);
};
