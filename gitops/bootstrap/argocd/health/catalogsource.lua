-- A CatalogSource is healthy once OLM can read its catalog.
local status = obj.status or {}
if status.reason == "SpecInvalidError" or status.reason == "ConfigMapError" then
  return { status = "Degraded", message = status.message or status.reason }
end
local state = (status.connectionState or {}).lastObservedState
if state == "READY" then
  return { status = "Healthy", message = "OLM reads the catalog" }
end
return { status = "Progressing", message = "The connection to the catalog is " .. (state or "not made yet") }
