/** What is said of policies as they are written, while a daemon does not follow. */
export const doubtText = (doubt: string): string => `what is shown may be outdated or not in effect: ${doubt}`;

export const NOT_READ =
  'network policies are not read from the API server yet: what was programmed before is in effect, and new pods wait';
