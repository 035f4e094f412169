-- A ClusterCatalog is healthy once catalogd serves the catalog of the current spec.
local waiting = { status = "Progressing", message = "Waiting for catalogd" }
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  local current = condition.observedGeneration == obj.metadata.generation
  if condition.type == "Progressing" and condition.reason == "Blocked" and current then
    return { status = "Degraded", message = condition.message }
  end
  if condition.type == "Progressing" and current and condition.reason ~= "Succeeded" then
    waiting.message = condition.message
  end
end
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  local current = condition.observedGeneration == obj.metadata.generation
  if condition.type == "Serving" and condition.status == "True" and current then
    return { status = "Healthy", message = condition.message }
  end
end
return waiting
