import { BlockList, isIP } from 'node:net';

/** Networks that no public instance should name: https://www.iana.org/assignments/iana-ipv4-special-registry */
const NETWORKS = {
  ipv4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
    ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ],
  // Everything outside 2000::/3, the range of public addresses. Also Teredo and 6to4, which contain an IPv4 address.
  ipv6: ['::/3', '4000::/2', '8000::/1', '2001::/32', '2002::/16'],
};
// A combined list would compare IPv4 addresses with IPv6 networks, too.
const special = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const family of ['ipv4', 'ipv6'] as const) {
  for (const network of NETWORKS[family]) {
    const [address = '', prefix] = network.split('/');
    special[family].addSubnet(address, Number(prefix), family);
  }
}

/** Names that only a private network or this machine resolves: RFC 6761, 6762 (also appendix G) and 8375. */
const PRIVATE_NAME =
  /^[^.]+$|\.(localhost|local|localdomain\d?|internal|svc|home\.arpa|intranet|corp|home|lan|private)$/;

/**
 * Returns true if a host's name shows that it is this machine or in a private network. A name that resolves to a
 * private address is not recognized; the certificate that https requires for the name prevents the request from being
 * read.
 *
 * @param hostname from a `URL`, which normalizes all spellings of an IPv4 address
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.+$/g, '').toLowerCase();
  if (isIP(host) === 0) return PRIVATE_NAME.test(host);
  const family = isIP(host) === 4 ? 'ipv4' : 'ipv6';
  return special[family].check(host, family);
}
