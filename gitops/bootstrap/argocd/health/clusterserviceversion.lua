-- A ClusterServiceVersion is healthy once OLM has installed what it describes. One that failed is tried again by OLM
-- where that may help, and is Degraded meanwhile.
local status = obj.status or {}
local message = status.message or "Waiting for OLM"
if status.phase == "Succeeded" then
  return { status = "Healthy", message = message }
end
if status.phase == "Failed" then
  return { status = "Degraded", message = message }
end
return { status = "Progressing", message = message }
