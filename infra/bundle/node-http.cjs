// The SDK imports node:http for http:// endpoints, which only emulators and tests have.
module.exports = process.getBuiltinModule('node:http');
