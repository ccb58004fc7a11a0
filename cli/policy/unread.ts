export const NOT_READ =
  'network policies are not read from the API server yet: what was programmed before is in effect, and new pods wait';
