-- A ClusterExtension is healthy once what the current spec asks for is installed, and nothing is left to do.
local conditions = {}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  if condition.observedGeneration == obj.metadata.generation then
    conditions[condition.type] = condition
  end
end
local installed, progressing = conditions.Installed, conditions.Progressing
-- Not any other reason: operator-controller fills in conditions that it has nothing to say of yet with False.
local ended = { Blocked = true, InvalidConfiguration = true, ProgressDeadlineExceeded = true }
if progressing ~= nil and progressing.status == "False" and ended[progressing.reason] then
  return { status = "Degraded", message = progressing.message }
end
if installed ~= nil and installed.status == "True" and progressing ~= nil and progressing.reason == "Succeeded" then
  return { status = "Healthy", message = installed.message }
end
local message = "Waiting for operator-controller"
if progressing ~= nil then
  message = progressing.message
end
return { status = "Progressing", message = message }
