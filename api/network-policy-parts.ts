/** What parts of a NetworkPolicy may be, with a schema and without. */

/** Far above what people write, and few enough that no policy costs a node more than milliseconds. */
export const MAX_OF_POLICY = {
  ...{ rules: 1024, peers: 1024, ports: 1024, excepts: 4096, requirements: 128, values: 1024 },
} as const;

/** A qualified name, as label keys are: `__proto__` is none, which zod would leave out of a map without a word. */
export const LABEL_KEY = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
export const MAX_LABEL_KEY = 317;
export const isLabelKey = (text: string): boolean => text.length <= MAX_LABEL_KEY && LABEL_KEY.test(text);

export const MAX_PORT = 65_535;

/** Names as in RFC 6335 section 5.1, which the API server checks, too. */
export const isPort = (port: number | string): boolean =>
  typeof port === 'number'
    ? Number.isInteger(port) && port >= 1 && port <= MAX_PORT
    : port.length <= 15 && /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/.test(port);

export const POLICY_PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;
