/** What `udnctl explain` knows. */
export const EXPLAINED = ['pod', 'network', 'service'] as const;
export type Explained = (typeof EXPLAINED)[number];
