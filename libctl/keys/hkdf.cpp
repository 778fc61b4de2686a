// SPDX-License-Identifier: LGPL-2.1-or-later
#include "hkdf.h"

#include <memory>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

namespace nofctl {

using nvmeof::Error;
using nvmeof::Result;

namespace {

struct FreeKdf {
	void operator()(EVP_KDF *kdf) const { EVP_KDF_free(kdf); }
	void operator()(EVP_KDF_CTX *context) const { EVP_KDF_CTX_free(context); }
};

} // namespace

Result<SecretBytes> hkdf(HkdfMode mode, KeyHash hash, const SecretBytes &key, const std::string &info,
			 std::size_t length)
{
	// Fetched once: looking an algorithm up takes longer than using it.
	static const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
	const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
	int number = mode == HkdfMode::expand ? EVP_KDF_HKDF_MODE_EXPAND_ONLY : EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND;
	SecretBytes derived(length);
	// OpenSSL only reads these
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &number),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, const_cast<char *>(toString(hash)), 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<std::uint8_t *>(key.bytes().data()),
						  key.size()),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char *>(info.data()), info.size()),
		OSSL_PARAM_construct_end(),
	};
	if (context && EVP_KDF_derive(context.get(), derived.data(), derived.size(), params) > 0)
		return derived;
	Error error;
	error.message = std::string("OpenSSL cannot derive keys: it has no HKDF with ") + toString(hash) +
			" here; its configuration may have disabled it, see openssl.cnf";
	return error;
}

std::string hkdfLabel(std::string_view label, std::string_view context, std::size_t length)
{
	const std::string whole = "tls13 " + std::string(label);
	return std::string{static_cast<char>(length >> 8), static_cast<char>(length & 0xff),
			   static_cast<char>(whole.size())} +
	       whole + static_cast<char>(context.size()) + std::string(context);
}

} // namespace nofctl
