// A certificate for 127.0.0.1 that no authority has signed, valid for a hundred years; its key is public and protects nothing.
// Made by: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 \
//   -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmPOGvU/Bx3XSG4rd
Pukqh0XckClMVGla/OPm3WZAWyShRANCAAS642hJJJ87puxUvmP4TuGxB6ZSDB7j
vYp1S565GIJeeaFK66y05LsIOu8VUJlEHkRCVyJhN/uRZeT3NnU/QGVt
-----END PRIVATE KEY-----
`

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUPV0B3guLUZ1A4xI2LQCttLeDwuAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTAzNTE0MVoYDzIxMjYxMDI4
MDM1MTQxWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS642hJJJ87puxUvmP4TuGxB6ZSDB7jvYp1S565GIJeeaFK66y05LsI
Ou8VUJlEHkRCVyJhN/uRZeT3NnU/QGVto2QwYjAdBgNVHQ4EFgQUr/gmYtSWZRrq
eA90paLHd/ZsEJgwHwYDVR0jBBgwFoAUr/gmYtSWZRrqeA90paLHd/ZsEJgwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
ID0wc2IGWrBEJcbzS3tY1ZQG0l0ytOW6Vp9jPZ7PLWyuAiEAuz7yPQ7kXh+iCs+i
ZINynCjJ9eXaQf6bUHY7M+PrZLo=
-----END CERTIFICATE-----
`
