// Stands in for @vscode/spdlog, which would have to be compiled: output channels are files that it writes.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const LEVELS = ["trace", "debug", "info", "warn", "error", "critical"];

class Logger {
  constructor(file) {
    this.file = file;
    this.level = 0;
    this.bare = false;
    LEVELS.forEach((name, level) => {
      this[name] = (message) => this.write(level, message);
    });
  }
  write(level, message) {
    if (level < this.level) {
      return;
    }
    const time = new Date().toISOString().replace("T", " ").replace("Z", "");
    fs.appendFileSync(this.file, this.bare ? message : `${time} [${LEVELS[level]}] ${message}\n`);
  }
  setLevel(level) {
    this.level = level;
  }
  clearFormatters() {
    this.bare = true;
  }
  setPattern() {}
  flush() {}
  drop() {}
}

async function create(_name, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.appendFileSync(file, "");
  return new Logger(file);
}

// One by one, so that an import sees their names.
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
