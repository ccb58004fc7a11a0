/** Of a response, one value for each name. What is no header (`:status`) is left out. */
export const flatHeaders = (headers: NodeJS.Dict<string | string[] | number>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !name.startsWith(':'))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value ?? '')]),
  );
