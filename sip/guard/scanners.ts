// Programs that try telephone systems for holes, by the names they give
// themselves. Whoever hides its name is caught by the list of addresses.

const SCANNERS =
  /(?:^|[^a-z])(?:friendly-(?:scanner|request)|sipvicious|sipcli|sip-scan|sundayddr|iwar|vaxsipuseragent|vaxasip|sivus|gulp|pplsip|siparmyknife|masscan|zgrab)(?:[^a-z]|$)/i;

export function isScanner(userAgent: string | undefined): boolean {
  return userAgent !== undefined && SCANNERS.test(userAgent);
}
