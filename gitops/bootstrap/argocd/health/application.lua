-- An Application passes on its health, so that the waves of its parent wait for it. Argo CD has had no check of its own
-- for Applications since 1.8. One of this tree must also be synced to the revision that it names; what other
-- Applications of this Argo CD are meant to be is not ours to judge.
local health = { status = "Progressing", message = "Waiting for the first sync" }
if obj.status == nil or obj.status.health == nil or obj.status.sync == nil then
  return health
end
local labels = obj.metadata.labels
if labels ~= nil and labels["app.kubernetes.io/part-of"] == "memcached-operator" then
  local compared, source = obj.status.sync.comparedTo, obj.spec.source
  if source ~= nil and compared ~= nil and compared.source ~= nil
      and compared.source.targetRevision ~= source.targetRevision then
    health.message = "Waiting for " .. source.targetRevision
    return health
  end
  if obj.status.health.status == "Healthy" and obj.status.sync.status ~= "Synced" then
    health.message = "Waiting for the sync"
    return health
  end
end
health.status = obj.status.health.status or "Progressing"
health.message = obj.status.health.message or ""
return health
