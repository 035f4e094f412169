-- An Application passes on its health once it is synced to the revision that it names, so that the waves of its
-- parent wait for it. Argo CD has had no check of its own for Applications since 1.8.
local health = { status = "Progressing", message = "Waiting for the first sync" }
if obj.status == nil or obj.status.health == nil or obj.status.sync == nil then
  return health
end
local compared = obj.status.sync.comparedTo
if compared ~= nil and compared.source ~= nil
    and compared.source.targetRevision ~= obj.spec.source.targetRevision then
  health.message = "Waiting for " .. obj.spec.source.targetRevision
  return health
end
if obj.status.health.status == "Healthy" and obj.status.sync.status ~= "Synced" then
  health.message = "Waiting for the sync"
  return health
end
health.status = obj.status.health.status or "Progressing"
health.message = obj.status.health.message or ""
return health
