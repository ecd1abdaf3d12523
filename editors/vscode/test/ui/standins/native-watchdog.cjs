// Stands in for native-watchdog, which would have to be compiled and ends an extension host whose server was killed: the tests end both.
"use strict";
exports.start = () => {};
exports.exit = (code) => process.exit(code);
