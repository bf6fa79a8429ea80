-- Works in an exercise as a student would, with Neovim's own client, and writes down as JSON what the student sees.
local seen = { messages = {}, opened = {} }

local function say(_, result) table.insert(seen.messages, result.message) end
vim.lsp.handlers['window/showMessage'] = say
vim.lsp.handlers['window/showDocument'] = function(_, result)
  table.insert(seen.opened, result.uri)
  return { success = true }
end

local function finish(problem)
  seen.problem = problem
  vim.fn.writefile({ vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen) }, vim.env.SEEN)
  for _, client in pairs(vim.lsp.get_active_clients()) do client.stop() end
  vim.wait(10000, function() return #vim.lsp.get_active_clients() == 0 end, 20)
  vim.cmd('qa!')
end

-- What the configuration in README.md calls, for a Neovim that is older than it.
if not vim.lsp.start then
  vim.lsp.start = function(config)
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
  end
end

local function await(what, condition)
  if not vim.wait(120000, condition, 20) then error(what .. ' did not come') end
end

local function diagnostics()
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, { line = d.lnum + 1, col = d.col, severity = d.severity, code = d.code, source = d.source, message = d.message })
  end
  return list
end

local function request(method, params)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 120000) or {}) do
    if answer.err then error(method .. ': ' .. answer.err.message) end
    return answer.result
  end
end

local function save(file)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn.readfile(file))
  vim.cmd('silent write')
end

local function has(code)
  for _, d in ipairs(vim.diagnostic.get(0)) do
    if d.code == code then return d end
  end
end

local ok, problem = pcall(function()
  dofile(vim.env.CONFIG)
  vim.cmd('silent edit ' .. vim.env.EXERCISE)
  await('a first diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
  seen.first = diagnostics()

  save(vim.env.WRONG)
  await('the leak', function() return has('leak') end)
  seen.wrong = diagnostics()
  local at = has('leak')
  vim.api.nvim_win_set_cursor(0, { at.lnum + 1, 0 })
  local here = vim.lsp.util.make_position_params(0, 'utf-16')
  seen.hover = request('textDocument/hover', here).contents.value
  local range = vim.lsp.util.make_range_params(0, 'utf-16')
  range.context = { diagnostics = {} }
  seen.actions = {}
  for _, action in ipairs(request('textDocument/codeAction', range)) do
    table.insert(seen.actions, action.title)
    request('workspace/executeCommand', action.command)
  end
  await('the hint and the picture', function() return #seen.messages + #seen.opened >= 2 end)

  save(vim.env.BROKEN)
  await('the compile error', function() return has('compile') end)
  seen.broken = diagnostics()

  save(vim.env.MENDED)
  await('the pass', function() return #vim.diagnostic.get(0) == 0 end)
end)
finish(not ok and tostring(problem) or nil)
