/** Paths of fields as users read them in API errors: `spec.layer3.subnets[1].cidr`, `metadata.labels["a.b/c"]`. */
export const joinPath = (path: readonly PropertyKey[]): string => {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`;
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text;
};
