-- Drives a real Neovim that was configured with the README's own lines. Argument: the vault.
-- Prints one line a check and leaves with the number of failed ones.
local vault = arg[1]
local failed = 0

local function check(name, ok, detail)
  io.stdout:write(ok and "ok " or "FAILED ", name, " ", tostring(detail or ""), "\n")
  if not ok then
    failed = failed + 1
  end
end

vim.opt.swapfile = false
vim.cmd.edit(vim.fn.fnameescape(vault .. "/Home.md"))
local client
check("attached", vim.wait(10000, function()
  client = vim.lsp.get_clients({ name = "synapse", bufnr = 0 })[1]
  return client ~= nil and client.initialized == true
end, 20))
check("the vault is the root", client.root_dir == vault, client.root_dir)

local function status()
  local answer = client:request_sync("synapse/status", {}, 10000, 0)
  return answer and answer.result and answer.result.vaults[1]
end
check("words and vectors are current", vim.wait(120000, function()
  local now = status()
  return now ~= nil and now.state == "ready" and now.pending == 0 and now.model.state == "ready"
end, 200), vim.inspect(status()))

local symbols = client:request_sync("workspace/symbol", { query = "boiler" }, 10000, 0)
check("symbols", symbols.result ~= nil and symbols.result[1].name == "Boiler", vim.inspect(symbols.result and symbols.result[1]))
vim.lsp.buf.workspace_symbol("boiler")
check("the editor lists them", vim.wait(10000, function()
  return #vim.fn.getqflist() > 0
end, 20), #vim.fn.getqflist())
vim.cmd.cclose()

local found = client:request_sync("synapse/search", { query = "the radiators are cold, what now" }, 10000, 0)
check("search by meaning", found.result ~= nil and #found.result.hits > 0, found.result and found.result.hits[1].title)

-- Put the cursor on the first wiki link of the note and hover as a person would.
vim.fn.cursor(1, 1)
local line = vim.fn.search([[\[\[]], "W")
check("a link on screen", line > 0, vim.fn.getline(line))
vim.lsp.buf.hover()
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n")
    end
  end
end
check("hover", vim.wait(10000, function()
  return floating() ~= nil
end, 20), floating())

client:stop()
check("stopped", vim.wait(10000, function()
  return client:is_stopped()
end, 20))
os.exit(failed)
