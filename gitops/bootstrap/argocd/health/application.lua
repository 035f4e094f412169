-- An Application passes on its health, so that the waves of its parent wait for it. Argo CD has had no check of its own
-- for Applications since 1.8. One of this tree must also be synced to the revision that it names; other
-- Applications of this Argo CD keep their own rules.
local status = obj.status or {}
if status.health == nil or status.health.status == nil or status.sync == nil then
  return { status = "Progressing", message = "Waiting for the first sync" }
end
local health = { status = status.health.status, message = status.health.message or "" }
local labels = obj.metadata.labels or {}
if labels["app.kubernetes.io/part-of"] ~= "memcached-operator" or health.status == "Degraded" then
  return health
end
local compared = (status.sync.comparedTo or {}).source
if compared ~= nil and compared.targetRevision ~= obj.spec.source.targetRevision then
  return { status = "Progressing", message = "Waiting for " .. obj.spec.source.targetRevision }
end
-- Missing and Unknown would not count at all: Argo CD passes over children of these.
if status.sync.status ~= "Synced" or health.status == "Missing" or health.status == "Unknown" then
  return { status = "Progressing", message = "Waiting for the sync" }
end
return health
