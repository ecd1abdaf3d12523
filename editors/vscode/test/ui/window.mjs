/** One window of the workbench in Chromium: what a person sees and does, by name. */
import fs from "node:fs";
import path from "node:path";

import { chromium } from "playwright-core";

import { PATIENCE, until } from "./until.mjs";

const CHROMIUM = process.env.SYNAPSE_CHROMIUM ?? "/usr/bin/chromium";
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const LOCAL = new Set(["127.0.0.1", "localhost"]);

export class Browser {
  static async launch() {
    const browser = new Browser();
    browser.chromium = await chromium.launch({
      executablePath: CHROMIUM,
      args: [...QUIET, "--disable-component-update", "--disable-sync"],
    });
    /** Requests to anywhere but this machine: refused, and an error of the test. */
    browser.foreign = [];
    browser.windows = [];
    return browser;
  }

  /** A page with a profile of its own that reaches this machine only. `functions` are there for its scripts, by name. */
  async page(functions = {}, size = { width: 1280, height: 800 }) {
    const context = await this.chromium.newContext({
      viewport: size,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await context.route(
      (url) => !LOCAL.has(url.hostname) && !["blob:", "data:"].includes(url.protocol),
      (route) => {
        this.foreign.push(route.request().url());
        return route.abort();
      },
    );
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    for (const [name, body] of Object.entries(functions)) {
      await page.exposeFunction(name, body);
    }
    return page;
  }

  /** The address of a workbench on a folder or a .code-workspace file. */
  address(server, folder, payload = []) {
    const kind = folder.endsWith(".code-workspace") ? "workspace" : "folder";
    const query = new URLSearchParams({
      [kind]: folder,
      ...(payload.length > 0 ? { payload: JSON.stringify(payload) } : {}),
    });
    return `http://${server.host}/?${query}`;
  }

  /** A window on a folder, ready to be used. */
  async open(server, folder, size) {
    const page = await this.page({}, size);
    const window = new Window(page);
    this.windows.push(window);
    page.on("console", (message) => message.type() === "error" && window.errors.push(message.text()));
    await page.goto(this.address(server, folder), { waitUntil: "domcontentloaded" });
    await page.locator(".monaco-workbench .statusbar-item").first().waitFor();
    return window;
  }

  async close() {
    await this.chromium.close();
  }
}

export class Window {
  constructor(page) {
    this.page = page;
    this.errors = [];
    this.quick = page.locator(".quick-input-widget");
    this.rows = this.quick.locator(".quick-input-list .monaco-list-row");
    this.input = this.quick.locator("input[type=text]");
  }

  press(...keys) {
    return keys.reduce((done, key) => done.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  /** Replaces what stands in the box of the quick input, all at once: rows that come are those of this text, and of no beginning of it. */
  async type(text) {
    await this.input.focus();
    await this.press("Control+A");
    await (text === "" ? this.press("Delete") : this.page.keyboard.insertText(text));
  }

  /** Opens the quick input with a key and waits until it has the focus. A key that came too early is pressed again. */
  async quickly(key) {
    const focused = () => this.input.evaluate((box) => box === document.activeElement);
    await until(async () => {
      await this.press(key);
      await this.input.waitFor({ timeout: 5000 });
      return until(focused, "the focus", 5000);
    }, `the quick input opens with ${key}`);
  }

  /** Runs a command by its title. */
  async command(title) {
    await this.quickly("F1");
    await this.type(`>${title}`);
    const row = this.rows.filter({ hasText: title }).first();
    await until(async () => {
      const first = await this.rows.first().getAttribute("aria-label");
      return first?.startsWith(title);
    }, `the command ${title} is listed first`);
    await row.waitFor();
    await this.press("Enter");
    await until(
      async () => !(await this.quick.isVisible()) || (await this.input.inputValue()) !== `>${title}`,
      `${title} runs`,
    );
  }

  /** The rows of the quick input, as a screen reader would tell them. */
  async list() {
    return this.rows.evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  }

  /** Waits until the first row of the quick input is like `first`. */
  async listed(first) {
    await until(async () => first.test((await this.list())[0]), `the first row is like ${first}`);
  }

  /** The label of the row that is chosen. */
  async chosen() {
    return this.rows.and(this.page.locator(".focused")).first().getAttribute("aria-label");
  }

  /** Opens a file by its name, and waits for its tab. */
  async file(name) {
    await this.quickly("Control+P");
    await this.type(name);
    const base = path.basename(name);
    await until(async () => (await this.list())[0]?.startsWith(base), `${name} is found`);
    await this.press("Enter");
    await until(async () => (await this.tab()) === base, `${name} opens`);
  }

  /** The title of the active tab. */
  async tab() {
    return this.page
      .locator(".part.editor .editor-group-container.active .tab.active .label-name")
      .first()
      .textContent({ timeout: 1000 });
  }

  /** All tabs, group by group. */
  async tabs() {
    return this.page
      .locator(".part.editor .editor-group-container")
      .evaluateAll((groups) =>
        groups.map((group) => [...group.querySelectorAll(".tab .label-name")].map((tab) => tab.textContent)),
      );
  }

  /** The lines of the active editor that are on the screen. */
  async text() {
    const lines = this.page.locator(".part.editor .editor-group-container.active .monaco-editor .view-line");
    const found = await lines.evaluateAll((all) =>
      all.map((line) => [Number.parseFloat(line.style.top), line.textContent]),
    );
    return found
      .sort((a, b) => a[0] - b[0])
      .map(([, text]) => text.replaceAll("\u00a0", " "))
      .join("\n");
  }

  /** Line and column of the cursor, 1-based, as the status bar says. */
  async cursor() {
    const said = await this.page.locator("#status\\.editor\\.selection").innerText();
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(said) ?? [];
    return { line: Number(line), column: Number(column) };
  }

  /** Puts the cursor of the active editor somewhere. */
  async goto(line, column = 1) {
    await this.quickly("Control+G");
    await this.type(`:${line}:${column}`);
    await this.listed(new RegExp(`^Go to line ${line}\\b`));
    await this.press("Enter");
    await until(async () => {
      const at = await this.cursor();
      return at.line === line && at.column === column;
    }, `the cursor is in line ${line}`);
  }

  /** The list of a view in the side bar. */
  #list(view) {
    return this.page
      .locator(".pane", { has: this.page.locator(".pane-header", { hasText: view }) })
      .locator(".pane-body .monaco-list-row");
  }

  /** The rows of a view in the side bar, as a screen reader would tell them, from the top. */
  async view(title) {
    return this.#list(title).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  }

  /** The first row of a view that has a text. */
  row(view, text) {
    return this.#list(view).filter({ hasText: text }).first();
  }

  /** Rests the mouse on the first occurrence of a text in the active editor, and waits for a hover like `pattern`. */
  async hover(text, pattern) {
    const place = await this.page.evaluate((wanted) => {
      const editor = document.querySelector(".part.editor .editor-group-container.active .monaco-editor");
      for (const line of editor.querySelectorAll(".view-line")) {
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const at = node.data.replaceAll("\u00a0", " ").indexOf(wanted);
          if (at >= 0) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + wanted.length);
            const box = range.getBoundingClientRect();
            return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
          }
        }
      }
      return null;
    }, text);
    if (!place) {
      throw new Error(`${text} is not on the screen`);
    }
    const hover = this.page.locator(".monaco-hover:not(.hidden)", { hasText: pattern }).first();
    await until(async () => {
      await this.page.mouse.move(0, 0);
      await this.page.mouse.move(place.x, place.y);
      await hover.waitFor({ timeout: 5000 });
      return true;
    }, `a hover like ${pattern}`);
    return hover;
  }

  /** Our item in the status bar. */
  get status() {
    return this.page.locator('.statusbar-item[id$="synapse.status"]');
  }

  /** Waits until words and vectors of all notes are there. */
  async settled(patience = 4 * PATIENCE) {
    const said = async () => (await this.status.innerText()).trim();
    await until(
      async () => /^[1-9]\d* notes?$/.test(await said()),
      "the status bar tells the number of notes",
      patience,
    );
  }

  /** What the status bar's item tells whoever rests on it or listens to it. */
  async told() {
    return this.status.locator("[aria-label]").first().getAttribute("aria-label");
  }

  /** Opens Search Notes, types, and waits for a first row like `first`. */
  async search(query, first) {
    await this.quickly("Control+Alt+N");
    await this.type(query);
    await this.listed(first);
  }

  /** Searches until the first row is like `first`, for a server that comes back or a note that is new. */
  async finds(query, first) {
    await this.quickly("Control+Alt+N");
    await until(async () => {
      await this.type("");
      await this.type(query);
      return until(async () => first.test((await this.list())[0]), query, 5000);
    }, `the first row is like ${first}`);
    await this.press("Escape");
  }

  /** The messages that are on the screen, each with its buttons. */
  async messages() {
    return this.page.locator(".notifications-toasts .notification-list-item").evaluateAll((all) =>
      all.map((one) => ({
        text: one.querySelector(".notification-list-item-message")?.textContent ?? "",
        buttons: [...one.querySelectorAll(".notification-list-item-buttons-container .monaco-button")].map(
          (button) => button.textContent,
        ),
      })),
    );
  }

  async message(pattern) {
    return until(
      async () => (await this.messages()).find((one) => pattern.test(one.text)),
      `a message like ${pattern}`,
    );
  }

  /** A picture for whoever looks for the cause of a failure; its path. */
  async picture(folder, name) {
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${name.replaceAll(/[^\w-]+/g, "-")}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }
}
