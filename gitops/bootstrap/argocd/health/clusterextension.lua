-- A ClusterExtension is healthy once what the current spec asks for is installed, and nothing is left to do.
local conditions = {}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  if condition.observedGeneration == obj.metadata.generation then
    conditions[condition.type] = condition
  end
end
local installed, progressing = conditions.Installed, conditions.Progressing
if progressing ~= nil and progressing.reason == "Blocked" then
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
