-- Argo CD has a check of its own; until 3.5 it lets an upgrade that waits for approval hold up everything that comes
-- after it. Here a Subscription is healthy with a version installed, unless something failed.
local status = obj.status or {}
for _, condition in ipairs(status.conditions or {}) do
  -- While OLM replaces one version by the next there are two ClusterServiceVersions, and it finds that nothing fits. It may
  -- leave it at that for a quarter of an hour, although all went well: what counts is what is installed.
  local unresolved = condition.type == "ResolutionFailed" and condition.status == "True"
  if unresolved and status.installedCSV ~= nil then
    local health = { status = "Progressing" }
    if status.state == "AtLatestKnown" and status.installedCSV == status.currentCSV
        and condition.reason == "ConstraintsNotSatisfiable" then
      health.status = "Healthy"
    end
    health.message = status.installedCSV .. " is installed; OLM finds nothing newer that fits: " .. (condition.message or "")
    return health
  end
  local failed = condition.type == "InstallPlanFailed" or condition.type == "ResolutionFailed"
    or condition.type == "CatalogSourcesUnhealthy" or condition.type == "BundleUnpackFailed"
  if failed and condition.status == "True" then
    return { status = "Degraded", message = condition.type .. ": " .. (condition.message or condition.reason or "") }
  end
end
if status.state == "UpgradeFailed" then
  return { status = "Degraded", message = "The upgrade to " .. (status.currentCSV or "a newer version") .. " failed" }
end
if status.state == "AtLatestKnown" then
  return { status = "Healthy", message = (status.installedCSV or "The newest version") .. " is installed" }
end
if status.state == "UpgradePending" and obj.spec.installPlanApproval == "Manual" and status.installedCSV then
  return { status = "Healthy", message = status.installedCSV .. " is installed, an upgrade waits for approval" }
end
return { status = "Progressing", message = "OLM installs " .. (status.currentCSV or obj.spec.name) }
